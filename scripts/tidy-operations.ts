// The folders operations/: a file there has the name of an operation of the contract, so that the path is the index.
import { OPERATIONS } from '#contract/operations.ts'
import type { Fault } from './tidy-contract.ts'

const FILE = /^src\/[\w-]+\/operations\/([\w-]+)\.ts$/

/** Files of operations/ that are no operation's. */
export function operationFileFaults(paths: readonly string[]): Fault[] {
  const known = new Set(Object.keys(OPERATIONS).map((name) => name.replace('.', '-')))
  return paths
    .filter((path) => FILE.test(path) && !known.has(FILE.exec(path)?.[1] ?? ''))
    .map((path) => ({
      path,
      line: 1,
      rule: "has no operation's name, such as token-create: another file belongs one folder up",
    }))
}
