// The files of the status page in its folder. Any web server can serve the folder beside this process, also while
// Ergon does not run.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Path of a request → the file and its type. Nothing else is served, whatever a request names. */
export const PAGES = {
  '/': { file: 'index.html', type: 'text/html; charset=utf-8' },
  '/status.json': { file: 'status.json', type: 'application/json; charset=utf-8' },
  '/feed.rss': { file: 'feed.rss', type: 'application/rss+xml; charset=utf-8' },
} as const
export type PagePath = keyof typeof PAGES

/** Replaces a file as a whole: a reader sees the old text or the new one. */
export function replaceFile(folder: string, file: string, text: string): void {
  const path = join(folder, file)
  writeFileSync(`${path}.new`, text, { mode: 0o644 })
  renameSync(`${path}.new`, path)
}

/** Undefined where the file is not there. */
export function readStatusFile(folder: string, file: string): string | undefined {
  try {
    return readFileSync(join(folder, file), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
