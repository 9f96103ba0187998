# The image of docker-compose.video.yml: `docker build --target video .`
FROM python:3.12-slim AS build
WORKDIR /build
COPY pyproject.toml README.md LICENSE ./
COPY config ./config
COPY src ./src
RUN python -m venv /opt/docproc \
 && /opt/docproc/bin/pip install --no-cache-dir '.[video]'

FROM python:3.12-slim AS video
# The folders belong to the user before volumes are mounted there: a new volume takes over what it finds.
RUN useradd --uid 10001 --no-create-home docproc \
 && install --directory --owner docproc --group docproc --mode 0700 /app/data /app/home
COPY --from=build /opt/docproc /opt/docproc
ENV PATH=/opt/docproc/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
USER docproc
WORKDIR /app
EXPOSE 9090 8080
CMD ["docproc", "video", "serve"]
