// The packages and heavy built-in modules that a program loads at its start: its static imports, followed through
// src/. A package behind `await import()` is loaded when it is needed, and does not count.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Built-in modules that cost a program memory. An ES import of node:http alone costs 6.6 MiB (src/base/node-http.ts). */
export const HEAVY: ReadonlySet<string> = new Set([
  'node:http',
  'node:http2',
  'node:https',
  'node:inspector',
  'node:sqlite',
  'node:tls',
  'node:worker_threads',
])

/** An import or export of values; `import type` is gone at run time. */
const STATIC = /^(?:import|export)\s+(?!type\b)(?:[^'";]*?\sfrom\s+)?'([^']+)'/gm

/** The packages that a file loads, sorted. The path begins at the root of the tree. */
export function loadsOf(
  file: string,
  read: (path: string) => string = (path) => readFileSync(path, 'utf8'),
): string[] {
  const loads = new Set<string>()
  const seen = new Set<string>()
  const open = [file]
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (seen.has(path)) continue
    seen.add(path)
    for (const [, target = ''] of read(path).matchAll(STATIC))
      if (target.startsWith('#')) open.push(join('src', target.slice(1)))
      else if (target.startsWith('.')) open.push(join(dirname(path), target))
      else if (!target.startsWith('node:')) loads.add(packageOf(target))
      else if (HEAVY.has(target)) loads.add(target)
  }
  return [...loads].toSorted()
}

const packageOf = (target: string): string =>
  target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/')
