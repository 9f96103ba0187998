// Moments on pages that have no other script: told by the clock of whoever looks.

import { runClocks } from "/static/live.js";

runClocks("");
