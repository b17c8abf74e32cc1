// Bundle the viewer into one script and one style sheet: `node build.mjs OUTPUT_FOLDER`.
import { build } from "esbuild";
import { readFileSync } from "node:fs";

const folder = process.argv[2] ?? "bundle";
const notices = ["three", "uplot"]
  .map((name) => `${name}\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim()}`)
  .join("\n\n");

await build({
  entryPoints: { viewer: "main.js" },
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  outdir: folder,
  legalComments: "none",
  banner: { js: `/*\nThis file contains:\n\n${notices}\n*/` },
});
