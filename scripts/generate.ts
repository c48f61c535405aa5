// npm run generate: prints the reference pages from the source's own tables. With --check it writes
// nothing and fails when a page on disk is another (the tests do the same).
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { settingsHelp } from '#config/help.ts'
import { coveragePage, readTests } from './coverage.ts'
import { descriptionPage } from './description-reference.ts'
import { contractOf, openapi } from './openapi.ts'
import {
  cliPage,
  errorsPage,
  eventsPage,
  limitsPage,
  s3OperationsPage,
  settingsPage,
} from './reference.ts'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const REFERENCE = 'docs/reference'
const COVERAGE = 'acceptance/COVERAGE.md'

/** Path → text of every generated page. `read` gives what pages are only partly made of. */
export function pages(read: (path: string) => string): ReadonlyMap<string, string> {
  const { version } = JSON.parse(read('package.json')) as { version: string }
  return new Map([
    [`${REFERENCE}/openapi.json`, `${JSON.stringify(openapi(contractOf(version)), null, 2)}\n`],
    [`${REFERENCE}/errors.md`, errorsPage()],
    [`${REFERENCE}/events.md`, eventsPage()],
    [`${REFERENCE}/limits.md`, limitsPage()],
    [`${REFERENCE}/s3-operations.md`, s3OperationsPage()],
    [`${REFERENCE}/cli.md`, cliPage()],
    [`${REFERENCE}/description-file.md`, descriptionPage()],
    [`${REFERENCE}/settings.md`, settingsPage()],
    [`${REFERENCE}/start-help.txt`, settingsHelp()],
    [COVERAGE, coveragePage(read(COVERAGE), readTests(ROOT))],
  ])
}

/** The pages whose text on disk is not what would be printed. */
export function drift(
  made: ReadonlyMap<string, string>,
  read: (path: string) => string | undefined,
): string[] {
  return [...made].filter(([path, text]) => read(path) !== text).map(([path]) => path)
}

/** A file of this tree, or undefined when it is absent. */
export function readText(path: string): string | undefined {
  try {
    return readFileSync(join(ROOT, path), 'utf8')
  } catch {
    return undefined
  }
}

function main(check: boolean): void {
  const made = pages((path) => readText(path) ?? '')
  const stale = drift(made, readText)
  for (const path of stale) {
    if (check) process.stderr.write(`${path} is stale: run npm run generate\n`)
    else {
      mkdirSync(dirname(join(ROOT, path)), { recursive: true })
      writeFileSync(join(ROOT, path), made.get(path) ?? '')
    }
  }
  process.stdout.write(
    `generate: ${made.size} pages, ${stale.length} ${check ? 'stale' : 'written'}\n`,
  )
  if (check && stale.length > 0) process.exitCode = 1
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  main(process.argv.includes('--check'))
