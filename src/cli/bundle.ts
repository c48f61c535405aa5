// A source file and what it imports as one module: types are stripped, the packages of its folder are bundled. This runs on the
// user's machine, so the service never reads a folder of packages, nor parses code outside of the cell that runs it.
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { messageOf } from '#base/errors.ts'
import { CommandError, EXIT } from './output.ts'

export type FunctionBundle = { readonly file: string; readonly source: string }

const IS_SOURCE = /\.[mc]?[jt]sx?$/
/** CommonJS packages may ask for builtins at run time. */
const REQUIRE =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);"

/** Throws a CommandError that names file, line and column of each fault. */
export async function bundleFile(path: string): Promise<FunctionBundle> {
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
  }).catch((error: unknown) => {
    throw new CommandError(faultsOf(error), EXIT.failed, 'mend the file, and deploy again')
  })
  const text = made.outputFiles[0]?.text ?? ''
  const source = text.includes('__require(') ? `${REQUIRE}\n${text}` : text
  return { file: basename(path).replace(/\.[mc]?[jt]sx?$/, '.mjs'), source }
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
