# The one image of all services: DOCPROC_COMPONENT_NAME says which component a container runs.
# Docs: docs/how-to/deploy-with-compose.md.
#
#   docker build --tag docproc .                                          # all applications
#   docker build --tag docproc-video --build-arg APPLICATIONS=video .     # one of them
#
# A digest pins the base image: --build-arg PYTHON_IMAGE=python:3.12-slim-bookworm@sha256:…
ARG PYTHON_IMAGE=python:3.12-slim-bookworm

# --- what is installed, with pip and the build tools, which stay behind in this stage ---------------------------
FROM ${PYTHON_IMAGE} AS build
ARG APPLICATIONS=documents,materials,orchestrator,video
ARG EXTRAS=encrypted,oidc,postgresql,rabbitmq,redis,s3
WORKDIR /build
# The lock first: a change of source alone installs nothing anew.
COPY pyproject.toml ./
COPY requirements ./requirements
RUN python3 requirements/part.py build > build.txt \
 && python3 requirements/part.py "${APPLICATIONS},${EXTRAS}" > image.txt \
 && python3 -m venv tools \
 && tools/bin/python -m pip install --no-cache-dir --disable-pip-version-check --require-hashes --requirement build.txt \
 && python3 -m venv --without-pip /opt/docproc \
 && tools/bin/python -m pip --python /opt/docproc/bin/python install --no-cache-dir --disable-pip-version-check \
    --require-hashes --requirement image.txt
COPY README.md LICENSE ./
COPY config ./config
COPY src ./src
# pip compiles what it installs, which a container with a read-only root could not.
RUN tools/bin/python -m pip wheel --no-cache-dir --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir wheels . \
 && tools/bin/python -m pip --python /opt/docproc/bin/python install --no-cache-dir --disable-pip-version-check \
    --no-deps wheels/*.whl

# --- what runs --------------------------------------------------------------------------------------------------
FROM ${PYTHON_IMAGE} AS runtime
# pdftotext, for materials. Office files need more: --build-arg SYSTEM_PACKAGES="poppler-utils libreoffice-writer-nogui
# libreoffice-calc-nogui"; Tesseract likewise, with the extra tesseract.
ARG SYSTEM_PACKAGES=poppler-utils
# hadolint ignore=DL3008,SC2086 # the base image decides over Debian's versions; the argument is a list
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ${SYSTEM_PACKAGES} \
 && rm -rf /var/lib/apt/lists/*
# The folders belong to the user before volumes are mounted there: a new volume takes over what it finds.
RUN groupadd --gid 10001 docproc \
 && useradd --uid 10001 --gid docproc --no-create-home --home-dir /app/home docproc \
 && install --directory --owner docproc --group docproc --mode 0700 /app/data /app/home /app/models /app/storage
COPY --from=build /opt/docproc /opt/docproc
WORKDIR /app
COPY alembic.ini ./
COPY config/workflows ./config/workflows
ENV PATH=/opt/docproc/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    DOCPROC_HOME=/app/home \
    DOCPROC_HOST=0.0.0.0 \
    DOCPROC_LOG_FORMAT=json
# By number: Kubernetes can tell that it is not root.
USER 10001:10001
EXPOSE 8000 8001 8080 9090
ENTRYPOINT ["python", "-m", "docproc"]
