"""The settings of materials."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, SecretStr, field_validator

from docproc.settings import SettingsSection


class MaterialsSettings(SettingsSection):
    # events
    # The broker that brings `material_uploaded`; unset: DOCPROC_RABBITMQ_URL.
    materials_rabbitmq_url: str | None = None
    materials_queue: str = "material_processing_high"
    materials_dead_letter_queue: str = "material_processing_dlq"

    # where PDFs come from
    # The bucket of events that name a key only (`s3_key`).
    materials_bucket: str | None = None
    # Where an S3-compatible store listens that is not Amazon's.
    materials_s3_endpoint: str | None = None
    materials_max_mb: float = Field(default=100.0, gt=0)
    materials_max_pages: int = Field(default=2000, ge=1)

    # the text
    materials_least_words: int = Field(default=500, ge=1)
    # The engine for pages without readable text; `auto`: Tesseract where it is installed.
    materials_ocr_engine: Literal["auto", "tesseract", "rapidocr"] = "auto"

    # what is written
    # What a material is written in when its event does not say (ISO 639-1).
    materials_language: str = Field(default="es", pattern="^[a-z]{2}$")
    materials_questions: int = Field(default=10, ge=5, le=10)
    # Who writes; `auto`: a model where one can be asked (a key or an address is set), else without one.
    materials_author: Literal["auto", "openai", "extractive"] = "auto"

    # the model
    # Any server that speaks OpenAI's API; unset: OpenAI's own.
    materials_model_url: str | None = None
    materials_model_key: SecretStr | None = None
    materials_model: str = "gpt-4-turbo-preview"
    materials_temperature: float = Field(default=0.3, ge=0, le=2)
    materials_max_tokens: int = Field(default=4000, ge=256)
    materials_timeout_seconds: float = Field(default=60.0, gt=0)
    # How the model is told to answer in JSON: `object`, by the answer's `schema` where the server knows that,
    # or `off` where it knows neither.
    materials_json: Literal["object", "schema", "off"] = "object"
    # What fits into one question, text and answer together; longer texts are asked about in parts.
    materials_context_tokens: int = Field(default=100_000, ge=4000)
    # How much of a text a quiz is asked about: the most telling sentences of every chapter. The summary is
    # written from all of it.
    materials_quiz_tokens: int = Field(default=2000, ge=500)
    # Calls of all workers on one database, in a minute.
    materials_calls_per_minute: int = Field(default=60, ge=1)
    # How often a reply that is no valid answer is sent back to be put right, before it counts as an error.
    materials_repairs: int = Field(default=2, ge=0, le=10)

    # what it costs
    materials_usd_per_million_input: float = Field(default=10.0, ge=0)
    materials_usd_per_million_output: float = Field(default=30.0, ge=0)
    # What the models may cost in a day (UTC) and for one material; 0: no limit.
    materials_usd_per_day: float = Field(default=0.0, ge=0)
    materials_usd_per_material: float = Field(default=0.0, ge=0)

    # where summaries and quizzes are kept
    # Unset: in DocProc's own database.
    materials_mongodb_url: SecretStr | None = None
    materials_mongodb_database: str = Field(default="materials", min_length=1, max_length=63)
    # For how long the log `material_event` is kept.
    materials_event_days: float = Field(default=90.0, gt=0)

    # who is told
    # Where the end of each material is posted to, signed as callbacks are; unset: nowhere.
    materials_notify_url: str | None = None
    # A mail server (smtp://user:password@host:587) and who the mails come from; unset: no mails.
    materials_mail_url: SecretStr | None = None
    materials_mail_from: str = "docproc@localhost"

    @field_validator("materials_rabbitmq_url", "materials_model_url", "materials_s3_endpoint")
    @classmethod
    def _has_scheme(cls, value: Any) -> Any:
        if value is not None and "://" not in value:
            raise ValueError("write it with its scheme, as https://host or amqp://host")
        return value

    @property
    def max_bytes(self) -> int:
        return int(self.materials_max_mb * 1024 * 1024)

    @property
    def asks_a_model(self) -> bool:
        """Whether a model writes; `auto` takes a key or an address as the wish for one."""
        if self.materials_author == "auto":
            return bool(self.materials_model_key or self.materials_model_url)
        return self.materials_author == "openai"
