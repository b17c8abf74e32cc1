// Reads the scene from the page, or from the server while a run goes on, and opens the viewer.

import "./style.css";
import { withoutPicture } from "./page.js";
import { Viewer } from "./viewer.js";

// The picture first, then all that stands around it; marks say when (see benchmarks/page.py).
async function open(text) {
  performance.mark("script");
  const scenes = JSON.parse(text);
  performance.mark("data");
  if (!document.createElement("canvas").getContext("webgl2")) return withoutPicture(scenes);
  const viewer = new Viewer(scenes);
  performance.mark("built");
  await viewer.stage.drawn();
  performance.mark("picture");
  viewer.furnish();
  performance.mark("furnished");
  window.viewer = viewer.api;
  return viewer;
}

// Scenes in the page itself, or events from the server: "scenes", then "frames" while the run grows, then "done".
const stored = document.getElementById("scenes");
if (stored) open(stored.textContent);
else {
  const events = new EventSource("events");
  let opened = null;
  events.addEventListener("scenes", (event) => {
    if (opened) return;
    opened = open(event.data);
    opened.then((viewer) => viewer && (viewer.timeline.following = true));
  });
  events.addEventListener("frames", (event) => opened?.then((viewer) => viewer?.append(JSON.parse(event.data))));
  events.addEventListener("restart", () => location.reload());
  events.addEventListener("done", (event) => {
    events.close();
    opened?.then((viewer) => viewer?.finish(JSON.parse(event.data)));
  });
  events.addEventListener("error", () => {
    document.body.dataset.connection = "lost";
  });
  events.addEventListener("open", () => {
    if (opened) location.reload(); // the server was started again
    delete document.body.dataset.connection;
  });
}
