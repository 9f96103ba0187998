// What the home page knows, and who draws it anew when that changes.

export const state = {
  current: null, // the id of the request on show
  detail: null, // what we know of it
  recent: [], // the list as the server gave it
  uploading: [], // not yet at the server
  picked: null, // {index, name} of the field on show in the viewer
  page: null, // the page on show in the viewer
};

// A late one is over as well: what may still come is only better.
export const OVER = new Set(["completed", "failed", "sla_breached"]);
export const STEPS = ["received", "splitting", "processing", "extracting", "consolidating"];

const drawers = {};

/** Say who draws the "list" or the "request". */
export const onDraw = (what, job) => (drawers[what] = job);

export const redraw = (what) => drawers[what]();
