// What a test run says: each failure in full, each skip with its reason, the slowest files, and one line
// of counts.
import { relative } from 'node:path'
import { inspect } from 'node:util'
import type { TestEvent } from 'node:test/reporters'
import { fileEventOf, isOfShare } from './test-shares.ts'

const SLOWEST_SHOWN = 10
/** How a diagnostic begins that is shown: the runner adds many of its own. */
export const LOG_HEAD = 'The log of the product: '

export async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const counts = { passed: 0, failed: 0, skipped: 0 }
  const tookMs = new Map<string, number>()
  for await (const event of source) {
    const { type, data } = event
    const told = fileEventOf(event)
    if (told !== undefined) tookMs.set(told.file, told.tookMs)
    if (isOfShare(event) && type !== 'test:fail') continue
    if (type === 'test:pass' && data.skip !== undefined) {
      counts.skipped++
      yield `skipped: ${data.name}${typeof data.skip === 'string' ? `: ${data.skip}` : ''}\n`
    } else if (type === 'test:pass') {
      counts.passed++
    } else if (type === 'test:fail') {
      const { error } = data.details
      // Its tests have been named.
      if ('failureType' in error && error.failureType === 'subtestsFailed') continue
      counts.failed++
      // With the causes of the cause: "fetch failed" alone says nothing.
      yield `\nFAILED: ${data.name} (${data.file ?? ''}:${data.line ?? ''})\n${inspect(error.cause ?? error)}\n`
    } else if (type === 'test:diagnostic' && data.message.startsWith(LOG_HEAD)) {
      yield `\n${data.message}\n`
    } else if (type === 'test:summary' && data.file !== undefined) {
      tookMs.set(data.file, data.duration_ms)
    }
  }
  yield slowest(tookMs)
  yield `\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`
}

function slowest(tookMs: ReadonlyMap<string, number>): string {
  const lines = [...tookMs]
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, SLOWEST_SHOWN)
    .map(([file, ms]) => `${(ms / 1000).toFixed(1).padStart(7)} s  ${relative('.', file)}\n`)
  return `\nThe slowest files:\n${lines.join('')}`
}
