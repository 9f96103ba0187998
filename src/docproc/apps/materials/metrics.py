"""What Prometheus is told of materials."""

from __future__ import annotations

import prometheus_client

MATERIALS = prometheus_client.Counter(
    "docproc_materials_total", "Materials that came to their end", ["outcome"]
)
SECONDS = prometheus_client.Histogram(
    "docproc_material_seconds",
    "From the arrival of a material to its stored summary and quiz",
    buckets=(1, 2, 5, 10, 30, 60, 120, 180, 300, 600, 1800, 3600),
)
CALLS = prometheus_client.Counter(
    "docproc_material_model_calls_total", "Calls of a model, by how they ended", ["model", "outcome"]
)
TOKENS = prometheus_client.Counter(
    "docproc_material_tokens_total",
    "Tokens that models read (input) and wrote (output)",
    ["model", "direction"],
)
COST = prometheus_client.Counter(
    "docproc_material_cost_usd_total", "What models cost, by the prices that are set", ["model"]
)
DELIVERIES = prometheus_client.Counter(
    "docproc_material_deliveries_total", "Events of the queue, by how they were settled", ["settled"]
)
