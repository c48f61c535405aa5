// The built console for tests: built when its sources have changed, and the bytes of a page as a browser gets them.
import { execFile } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { promisify } from 'node:util'

const DIST = 'portal/dist'

/** Ends at once where the build is of these sources. */
export async function buildConsole(): Promise<void> {
  await promisify(execFile)(process.execPath, ['portal/build.ts'], { timeout: 300_000 })
}

export const pageText = (name: string): string => readFileSync(join(DIST, name), 'utf8')

/** The script of a page and all that it imports at once: what loads before anything is shown. */
export function scriptsOf(page: string): string[] {
  const entries = [...pageText(page).matchAll(/<script[^>]* src="\/([^"]+)"/g)].map(
    ([, path = '']) => path,
  )
  return closureOf(entries)
}

/** A chunk that loads by itself, such as a page of the console, with its imports. */
export function chunkOf(source: string): string[] {
  const manifest = JSON.parse(pageText('manifest.json')) as Record<string, { file: string }>
  const file = manifest[source]?.file
  if (file === undefined) throw new TypeError(`No chunk of ${source}`)
  return closureOf([file])
}

/** Follows `import … from "./x.js"`; an import() of a later time is not followed. */
function closureOf(entries: readonly string[]): string[] {
  const seen = new Set(entries)
  for (const path of seen) {
    const imports = readFileSync(join(DIST, path), 'utf8').matchAll(
      /(?:from|import)\s*["'](\.\/[^"']+\.js)["']/g,
    )
    for (const [, target = ''] of imports) seen.add(normalize(join(dirname(path), target)))
  }
  return [...seen]
}

export const stylesOf = (page: string): string[] =>
  [...pageText(page).matchAll(/rel="stylesheet"[^>]* href="\/([^"]+)"/g)].map(
    ([, path = '']) => path,
  )

/** Bytes with gzip. */
export const sizeOf = (paths: Iterable<string>): number =>
  [...new Set(paths)].reduce((sum, path) => sum + statSync(join(DIST, `${path}.gz`)).size, 0)
