from docproc import NEXT, BaseComponent, TransientError


class Lines(BaseComponent):
    """Splits a text into lines."""

    component_name = "lines"
    takes = "request"
    gives = "line"

    async def process_message(self, message, session):
        return [
            (NEXT, message.model_copy(update={"unit_key": f"line:{number}", "payload": {"text": text}}))
            for number, text in enumerate(message.payload["text"].splitlines())
        ]


class CountWords(BaseComponent):
    """Counts the words of one line."""

    component_name = "count_words"
    takes = "line"
    batch = 50

    async def process_message(self, message, session):
        text = message.payload["text"]
        if "¡" in text and message.attempt < 2:
            raise TransientError("the line is not ready yet")
        counted = {"text": text, "words": len(text.split())}
        return [(NEXT, message.model_copy(update={"payload": counted}))]
