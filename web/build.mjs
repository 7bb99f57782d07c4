// Bundles pages and writes them into a C++ file:
//   node build.mjs pages OUTPUT.cc   those of muster-sim, each one document
//   node build.mjs local OUTPUT.cc   the files of musterd's page
// To be run where node_modules is.
import fs from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const PAGES = ['report', 'compare'];
const DELIMITER = 'muster_web';

const [what, output] = process.argv.slice(2);
const source = path.join(path.dirname(fileURLToPath(import.meta.url)), 'src');
const modules = path.join(process.cwd(), 'node_modules');
const esbuild = createRequire(path.join(modules, 'x.js'))('esbuild');

function literal(text) {
  if (text.includes(`)${DELIMITER}"`)) {
    throw new Error('the bundle would end its own literal');
  }
  return `R"${DELIMITER}(${text})${DELIMITER}"`;
}

// {script, style}
async function bundle(page) {
  const result = await esbuild.build({
    entryPoints: [path.join(source, `${page}.js`)],
    bundle: true,
    minify: true,
    write: false,
    outdir: 'out',
    format: 'iife',
    target: ['es2021'],
    charset: 'ascii',
    legalComments: 'inline',
    nodePaths: [modules],
    logLevel: 'warning',
  });
  const text = (end) =>
    result.outputFiles.find((f) => f.path.endsWith(end)).text.trim();
  return {script: text('.js'), style: text('.css')};
}

async function embedded(page) {
  const {script, style} = await bundle(page);
  if (/<\/(script|style)/i.test(script + style)) {
    throw new Error('the bundle would end its own element');
  }
  return `  if (page == "${page}") {
    return WebBundle{.script = ${literal(script)},
                     .style = ${literal(style)}};
  }
`;
}

async function writePages() {
  const pages = await Promise.all(PAGES.map(embedded));
  fs.writeFileSync(output, `// Generated from web/ by build.mjs.
#include "adapters/report/page.h"

namespace muster::inprocess {

std::optional<WebBundle> FindWebBundle(std::string_view page) {
${pages.join('')}  return std::nullopt;
}

}  // namespace muster::inprocess
`);
}

async function writeLocal() {
  const {script, style} = await bundle('local');
  const html = fs.readFileSync(path.join(source, 'local.html'), 'utf8');
  const files = [['/', 'text/html', html],
    ['/page.js', 'text/javascript', script], ['/page.css', 'text/css', style]]
      .map(([name, type, text]) =>
        `      {"${name}", "${type}; charset=utf-8",\n${literal(text)}}`);
  fs.writeFileSync(output, `// Generated from web/ by build.mjs.
#include "adapters/local/page/static_files.h"

namespace muster::local {

std::span<const StaticFile> StaticFiles() {
  static constexpr StaticFile kFiles[] = {
${files.join(',\n')}};
  return kFiles;
}

}  // namespace muster::local
`);
}

await {pages: writePages, local: writeLocal}[what]();
