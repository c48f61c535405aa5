// A source file and its imports as one module: types are stripped, the packages of its folder are bundled. This runs
// on the user's machine, so the service never reads a folder of packages, nor parses code outside of the cell that
// runs it.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, parse, resolve } from 'node:path'
import { messageOf } from '#base/errors.ts'
import { FUNCTION_SOURCE_MAX } from '#contract/functions/function-limits.ts'
import { bundleName } from '#contract/functions/source-file.ts'
import { CommandError, EXIT } from './output.ts'

export type FunctionBundle = { readonly file: string; readonly source: string }

const IS_SOURCE = /\.[mc]?[jt]sx?$/
const MAP_BEFORE = '//# sourceMappingURL=data:application/json;base64,'
/** CommonJS packages may ask for builtins at run time. */
const REQUIRE =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);"

/** Throws a CommandError that names file, line and column of each fault. */
export async function bundleFile(path: string): Promise<FunctionBundle> {
  if (!existsSync(path)) throw missing(path)
  // The service refuses other languages, and names its runtimes.
  if (!IS_SOURCE.test(path)) return { file: basename(path), source: readText(path) }
  const { build } = await import('esbuild')
  const made = await build({
    entryPoints: [path],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    logLevel: 'silent',
    charset: 'utf8',
    // Beside the file: sources in the map are named as from there.
    outdir: dirname(resolve(path)),
    sourcemap: 'external',
    sourcesContent: false,
  }).catch((error: unknown) => {
    throw new CommandError(faultsOf(error), EXIT.failed, 'mend the file, and deploy again')
  })
  const text = (end: string) =>
    made.outputFiles.find(({ path: made }) => made.endsWith(end))?.text ?? ''
  const code = text('.js')
  // On the first line, which stays the first: the map counts lines.
  const module = code.includes('__require(') ? `${REQUIRE} ${code}` : code
  const map = `\n${MAP_BEFORE}${Buffer.from(text('.map')).toString('base64')}`
  // Where the map is left out, errors name the lines of the bundle.
  const source = module.length + map.length <= FUNCTION_SOURCE_MAX ? `${module}${map}` : module
  return { file: bundleName(basename(path)), source }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new CommandError(
      `Could not read ${path}: ${messageOf(error)}`,
      EXIT.failed,
      'check the path',
    )
  }
}

const missing = (path: string): CommandError =>
  new CommandError(`There is no file ${path}`, EXIT.failed, fileHint(path))

/** The source beside it that has its name with another end is the likely one. */
export function fileHint(path: string): string {
  const { dir, name } = parse(path)
  const folder = dir === '' ? '.' : dir
  const beside = existsSync(folder) ? readdirSync(folder) : []
  const likely = beside.find((file) => IS_SOURCE.test(file) && parse(file).name === name)
  return likely === undefined
    ? 'check the path, and the folder that you are in'
    : `there is ${join(dir, likely)}`
}

const FAULTS_SHOWN = 5

function faultsOf(error: unknown): string {
  const { errors } = error as {
    errors?: readonly {
      readonly text: string
      readonly location: {
        readonly file: string
        readonly line: number
        readonly column: number
      } | null
    }[]
  }
  if (errors === undefined) return `Could not bundle: ${String(error)}`
  return errors
    .slice(0, FAULTS_SHOWN)
    .map(({ text, location }) =>
      location === null
        ? text
        : `${location.file}:${location.line}:${location.column + 1}: ${text}`,
    )
    .join('\n')
}
