// The version of the package that this file is part of.
import { readFileSync } from 'node:fs'

/** As package.json names it. */
export function packageVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
