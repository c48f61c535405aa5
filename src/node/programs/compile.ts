// Bundles the programs that it is given, and loads each bundle: what V8 makes of it is then in NODE_COMPILE_CACHE.
// Fd 3 must be empty, at which a program gives up before it does anything.
//     compile.ts SOURCES BUNDLES AGENT PROGRAM…     folders, and files of programs from the sources
// The agent is bundled alone: Node keeps what V8 makes of it where the agent's start says.
import { readFileSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Loader, type Plugin } from 'esbuild'
import { bundleOf } from '#node/bundles.ts'

/** It has a hundred files: a gateway takes 70 to 100 ms of CPU less to load them as a part of its bundle. */
const BUNDLED = 'zod'
const PACKAGES: Plugin = {
  name: 'packages',
  setup({ onResolve }) {
    // No path, and none of ours, which begin with #.
    onResolve({ filter: /^[^./#]/ }, ({ path }) =>
      path === BUNDLED ? undefined : { path, external: true },
    )
  },
}

/** Packages that programs load when they need them. */
const LATER = ['undici', 'prom-client']

/** Code finds its SQL, workers and programs beside its source, which is not where its bundle is. */
const PLACES: Plugin = {
  name: 'places',
  setup({ onLoad }) {
    onLoad({ filter: /\.m?[jt]s$/ }, ({ path }) => ({
      loader: extname(path).slice(-2) as Loader,
      contents: readFileSync(path, 'utf8')
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
        .replaceAll('import.meta.dirname', JSON.stringify(dirname(path)))
        .replaceAll('import.meta.filename', JSON.stringify(path)),
    }))
  },
}

const [sources = '', bundles = '', agent = '', ...files] = process.argv.slice(2)
await build({
  entryPoints: [agent, ...files].map((file) => join(sources, file)),
  // Ahead of each program.
  inject: [join(sources, 'node/stacks.ts')],
  outdir: bundles,
  entryNames: '[name]',
  chunkNames: '[hash]',
  outExtension: { '.js': '.mjs' },
  bundle: true,
  // A module that two programs need is in one file; so is a module that a program and its later parts need.
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  sourcemap: 'linked',
  sourcesContent: false,
  plugins: [PLACES, PACKAGES],
  logLevel: 'error',
})
for (const file of files)
  try {
    await import(join(bundles, bundleOf(file)))
    process.exitCode = 1
  } catch (error) {
    // The error class of a bundle is another one.
    if (!(error instanceof Error && 'code' in error && error.code === 'config_invalid')) throw error
  }
for (const name of LATER) await import(name)
