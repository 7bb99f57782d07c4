// Bundles each page and writes them into a C++ file for muster-sim:
//   node build.mjs OUTPUT.cc
// To be run where node_modules is.
import fs from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const PAGES = ['report', 'compare'];
const DELIMITER = 'muster_web';

const output = process.argv[2];
const source = path.join(path.dirname(fileURLToPath(import.meta.url)), 'src');
const modules = path.join(process.cwd(), 'node_modules');
const esbuild = createRequire(path.join(modules, 'x.js'))('esbuild');

function literal(text) {
  if (text.includes(`)${DELIMITER}"`) || /<\/(script|style)/i.test(text)) {
    throw new Error('the bundle would end its own literal or element');
  }
  return `R"${DELIMITER}(${text})${DELIMITER}"`;
}

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
  return `  if (page == "${page}") {
    return WebBundle{.script = ${literal(text('.js'))},
                     .style = ${literal(text('.css'))}};
  }
`;
}

const pages = await Promise.all(PAGES.map(bundle));
fs.writeFileSync(output, `// Generated from web/ by build.mjs.
#include "adapters/report/page.h"

namespace muster::inprocess {

std::optional<WebBundle> FindWebBundle(std::string_view page) {
${pages.join('')}  return std::nullopt;
}

}  // namespace muster::inprocess
`);
