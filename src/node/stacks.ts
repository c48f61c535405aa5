// Stacks of bundled code name files and lines of the sources. Node's --enable-source-maps does so too, and reads all
// maps at each start, which took a gateway 75 ms of CPU: here a map is read at the first stack that needs it.
import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'

const PLACE = /(file:\/\/\S+?\.mjs):(\d+):(\d+)/
const maps = new Map<string, SourceMap | undefined>()

Error.prepareStackTrace = (error, calls) =>
  [headOf(error), ...calls.map((call) => `    at ${String(call).replace(PLACE, sourceOf)}`)].join(
    '\n',
  )

/** As Node writes it: a class's own toString() is not asked. */
function headOf(error: Error): string {
  try {
    const code = 'code' in error && error.code
    if (typeof code === 'string' && code.startsWith('ERR_'))
      return `${error.name} [${code}]: ${error.message}`
    return Error.prototype.toString.call(error)
  } catch {
    // No error, or one whose fields throw: its stack is wanted all the same.
    return '<error>'
  }
}

function sourceOf(place: string, file: string, line: string, column: string): string {
  const entry = mapOf(file)?.findEntry(Number(line) - 1, Number(column) - 1)
  if (entry === undefined || !('originalSource' in entry)) return place
  const source = new URL(entry.originalSource, file).href
  return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`
}

function mapOf(file: string): SourceMap | undefined {
  if (!maps.has(file)) maps.set(file, readMap(file))
  return maps.get(file)
}

function readMap(file: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(new URL(`${file}.map`), 'utf8')))
  } catch {
    // A package's module, or a folder that is gone: the place of the bundle says where it was.
    return undefined
  }
}
