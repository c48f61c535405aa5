// Places in the code as its author knows them: the files before they were bundled, by the source map at the end of the module.
// The map is parsed at the first error: at the start it would cost 15 ms and 30 MB for a megabyte of code.
import { readFileSync, writeFileSync } from 'node:fs'
import { SourceMap } from 'node:module'

const MAP = '\n//# sourceMappingURL=data:application/json;base64,'
const HERE = import.meta.dirname
/** Frames of the runtime and of Node say nothing about the code. */
const isOurs = (line) =>
  /^\s+at /.test(line) && (line.includes(HERE) || line.includes('node:internal/'))

/** Writes the module, and its map beside it. */
export function writeModule(file, source) {
  const at = source.lastIndexOf(MAP)
  writeFileSync(file, at < 0 ? source : source.slice(0, at + 1))
  if (at >= 0) writeFileSync(mapOf(file), Buffer.from(source.slice(at + MAP.length), 'base64'))
}

const mapOf = (file) => `${file}.map`

/** `name` is the file as it was deployed. */
export function createPlaces(file, name) {
  const own = new RegExp(`(?:file://)?${file.replaceAll('.', '\\.')}(?::(\\d+)(?::(\\d+))?)?`, 'g')
  let map
  const placeOf = (line, column) => {
    if (line === undefined) return name
    map ??= readMap(file)
    const found = map?.findEntry(Number(line) - 1, Number(column ?? 1) - 1)
    if (found?.originalSource === undefined)
      return `${name}:${line}${column === undefined ? '' : `:${column}`}`
    const end = column === undefined ? '' : `:${found.originalColumn + 1}`
    return `${found.originalSource}:${found.originalLine + 1}${end}`
  }
  return {
    /** The first place that a text names, without its column. */
    firstIn(text) {
      for (const [, line, column] of text.matchAll(own))
        if (line !== undefined) return placeOf(line, column).split(':').slice(0, 2).join(':')
      return undefined
    },
    /** A text with the places of the author, and without frames that are not the author's. */
    shown(text) {
      if (!text.includes('/')) return text
      const lines = text.includes('\n') ? text.split('\n').filter((line) => !isOurs(line)) : [text]
      return lines.join('\n').replace(own, (_, line, column) => placeOf(line, column))
    },
  }
}

/** Undefined where there is none, or none that can be read: the code may have changed it. */
function readMap(file) {
  try {
    return new SourceMap(JSON.parse(readFileSync(mapOf(file), 'utf8')))
  } catch {
    return undefined
  }
}
