// The folders operations/: a file there has the name of an operation of the contract, so that the path is the index.
import { OPERATIONS } from '#contract/operations.ts'
import type { Fault } from './tidy-contract.ts'

const FILE = /^src\/[\w-]+\/operations\/([\w-]+)\.ts$/

/** Files that still have several operations under a name of their own. The list may only get shorter. */
const SEVERAL: ReadonlySet<string> = new Set([
  'src/accounts/operations/receipt-log.ts',
  'src/portal/operations/logins.ts',
  'src/portal/operations/sign-in.ts',
  'src/portal/operations/sign-up.ts',
  'src/status/operations/operator.ts',
])

/** Files of operations/ that are no operation's, and exceptions that nothing needs. */
export function operationFileFaults(paths: readonly string[]): Fault[] {
  const known = new Set(Object.keys(OPERATIONS).map((name) => name.replace('.', '-')))
  const faults = paths
    .filter((path) => !known.has(FILE.exec(path)?.[1] ?? '') && FILE.test(path))
    .filter((path) => !SEVERAL.has(path))
    .map((path) => ({
      path,
      line: 1,
      rule: "has no operation's name, such as token-create: another file belongs one folder up",
    }))
  const unneeded = [...SEVERAL]
    .filter((path) => !paths.includes(path))
    .map((path) => ({
      path,
      line: 1,
      rule: 'is gone: SEVERAL of scripts/tidy-operations.ts names it',
    }))
  return [...faults, ...unneeded]
}
