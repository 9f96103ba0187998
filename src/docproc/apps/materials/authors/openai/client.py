"""One call of a model, with the parameters that are set; whatever goes wrong becomes one of our errors."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import openai

from docproc.apps.materials.answers import Completion
from docproc.apps.materials.errors import MaterialError, ModelDownError, RateLimitedError
from docproc.apps.materials.metrics import CALLS
from docproc.apps.materials.settings import MaterialsSettings
from docproc.engine.message import utc_now
from docproc.retry_after import wait_seconds

Messages = Sequence[Mapping[str, str]]

# Servers of our own machine ask for no key, and the client insists on one.
_NO_KEY = "none"
_CUT_OFF = "length"
_LONGEST_WAIT_SECONDS = 86_400.0


class Model:
    """One server and model. It is asked once for each call: the workflow says when it is asked again."""

    def __init__(self, settings: MaterialsSettings) -> None:
        key = settings.materials_model_key
        self.settings = settings
        self._client = openai.AsyncOpenAI(
            api_key=key.get_secret_value() if key else _NO_KEY,
            base_url=settings.materials_model_url,
            timeout=settings.materials_timeout_seconds,
            max_retries=0,
        )

    @property
    def name(self) -> str:
        return self.settings.materials_model

    async def complete(self, messages: Messages, schema: Mapping[str, Any]) -> Completion:
        """Raises ModelDownError, RateLimitedError or MaterialError (`no_access`, `model_refused`)."""
        try:
            # Of the whole call: the client's own limit is for each silence in it.
            async with asyncio.timeout(self.settings.materials_timeout_seconds):
                answer = await self._client.chat.completions.create(**self.parameters(messages, schema))
            done = _completion(answer)
        except openai.RateLimitError as error:
            CALLS.labels(self.name, "rate_limited").inc()
            raise _limited(error, utc_now()) from error
        except (openai.AuthenticationError, openai.PermissionDeniedError) as error:
            CALLS.labels(self.name, "refused").inc()
            raise MaterialError(
                f"the model's server refuses the key (HTTP {error.status_code})",
                code="no_access",
                remedy="Check DOCPROC_MATERIALS_MODEL_KEY, and that it may use DOCPROC_MATERIALS_MODEL",
            ) from error
        except openai.APIStatusError as error:
            CALLS.labels(self.name, "refused" if error.status_code < 500 else "failed").inc()
            raise _refused(error) from error
        except (openai.APITimeoutError, TimeoutError) as error:
            CALLS.labels(self.name, "timeout").inc()
            limit = self.settings.materials_timeout_seconds
            raise ModelDownError(f"the model did not answer within {limit:g} s") from error
        except (openai.OpenAIError, ValueError) as error:
            CALLS.labels(self.name, "failed").inc()
            raise ModelDownError(f"the model's server gave no answer: {_first_line(error)}") from error
        CALLS.labels(self.name, "answered").inc()
        return done

    def parameters(self, messages: Messages, schema: Mapping[str, Any]) -> dict[str, Any]:
        """As the specification says them, unless they are set otherwise."""
        said: dict[str, Any] = {
            "model": self.settings.materials_model,
            "messages": [dict(message) for message in messages],
            "temperature": self.settings.materials_temperature,
            "max_tokens": self.settings.materials_max_tokens,
        }
        match self.settings.materials_json:
            case "object":
                said["response_format"] = {"type": "json_object"}
            case "schema":
                named = {"name": "answer", "schema": dict(schema)}
                said["response_format"] = {"type": "json_schema", "json_schema": named}
        return said

    async def close(self) -> None:
        await self._client.close()


def _completion(answer: Any) -> Completion:
    """Raises ValueError for what is no chat completion."""
    try:
        choice = answer.choices[0]
        text, reason = choice.message.content or "", choice.finish_reason
    except (AttributeError, IndexError, TypeError) as error:
        raise ValueError("it is no chat completion") from error
    usage = answer.usage
    return Completion(
        text,
        reason == _CUT_OFF,
        int(getattr(usage, "prompt_tokens", 0) or 0),
        int(getattr(usage, "completion_tokens", 0) or 0),
    )


def _limited(error: openai.RateLimitError, now: datetime) -> Exception:
    if error.code == "insufficient_quota":  # no wait will pay the bill
        return MaterialError(
            "the account of the model has no credit left", code="no_access", remedy="Pay, or set another key"
        )
    wait = _asked(error, now)
    asked = "" if wait is None else f" and asks to wait {wait:.0f} s"
    return RateLimitedError(f"the model's server takes no more calls now{asked}", delay=wait)


def _refused(error: openai.APIStatusError) -> Exception:
    if error.status_code >= 500 or error.status_code in (408, 409):
        wait = _asked(error, utc_now())
        if wait is not None and error.status_code == 503:
            return RateLimitedError("the model's server is overloaded", delay=wait)
        return ModelDownError(f"the model's server failed (HTTP {error.status_code})")
    return MaterialError(
        f"the model's server refused the call (HTTP {error.status_code}): {_first_line(error)}",
        code="model_refused",
        remedy="Check DOCPROC_MATERIALS_MODEL, _MAX_TOKENS, _CONTEXT_TOKENS and _JSON",
    )


def _asked(error: openai.APIStatusError, now: datetime) -> float | None:
    """As the server says; one that asks for more than a day is asked again after one."""
    wait = wait_seconds(error.response.headers.get("retry-after"), now)
    return None if wait is None else min(wait, _LONGEST_WAIT_SECONDS)


def _first_line(error: Exception) -> str:
    return (str(error).partition("\n")[0] or type(error).__name__)[:300]
