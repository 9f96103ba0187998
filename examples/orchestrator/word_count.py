"""A service in Python: counts words for the orchestrator.

Run it beside `docproc up`:   python examples/orchestrator/word_count.py
"""

from docproc.orchestrator.service import BusinessError, Service, ServiceTask

service = Service("tool-registry")


@service.on("tool.execute")
async def count_words(task: ServiceTask) -> dict[str, int]:
    text = task.payload.get("text")
    if not isinstance(text, str):
        raise BusinessError("there is no text", code="NO_TEXT")  # reaches the client; nobody tries again
    await task.progress(50, "counting")
    return {"words": len(text.split())}


if __name__ == "__main__":
    service.run()
