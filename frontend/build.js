// Bundles src/ into the Python package: `npm ci && npm run build`. The bundle opens with the licences of the libraries
// in it and with a hash of the sources, by which a test sees that it is not stale.

import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const OUTPUT = here("../c45gpu/report/static/report.js");

/** SHA-256 of the names and contents of all sources, with what else decides the bundle. */
function sourceHash() {
  const sources = readdirSync(here("src"))
    .filter((name) => name.endsWith(".js"))
    .map((name) => `src/${name}`);
  const hash = createHash("sha256");
  for (const path of [...sources, "build.js", "package-lock.json", "package.json"].sort()) {
    hash
      .update(`${path}\n`)
      .update(readFileSync(here(path)))
      .update("\n");
  }
  return hash.digest("hex");
}

/** The packages that the bundle has code of, from the paths that went into it. */
function packagesIn(metafile) {
  const names = Object.keys(metafile.inputs).map((path) => path.match(/node_modules\/([^/]+)\//)?.[1]);
  return [...new Set(names.filter(Boolean))].sort();
}

function notice(name) {
  const { version } = JSON.parse(readFileSync(here(`node_modules/${name}/package.json`)));
  return `${name} ${version}\n\n${readFileSync(here(`node_modules/${name}/LICENSE`), "utf8").trim()}\n`;
}

const result = await build({
  absWorkingDir: here("."),
  entryPoints: ["src/main.js"],
  bundle: true,
  minify: true,
  charset: "ascii",
  format: "iife",
  target: "es2020",
  legalComments: "none",
  metafile: true,
  write: false,
});
const licences = packagesIn(result.metafile).map(notice).join("\n");
const banner = `/*! c45gpu report, made of frontend/ with sources ${sourceHash()}\n\nIt contains:\n\n${licences}*/\n`;
writeFileSync(OUTPUT, banner + result.outputFiles[0].text);
