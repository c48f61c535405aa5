// The output of a test run: each failure in full, each skip with its reason, and a line of counts.
import { inspect } from 'node:util'
import type { TestEvent } from 'node:test/reporters'
import { isOfProgram } from './test-files.ts'

/** The beginning of a diagnostic with a product's log. */
export const LOG_HEAD = 'The log of the product: '
/** The beginning of what a test's process writes on stderr when its product ends unasked. */
export const PRODUCT_ENDED = 'The product has ended by itself'
/** The beginning of a line that a long test writes on stderr, and that is shown at once. */
export const PROGRESS = 'progress: '
/** Diagnostics that are shown: Node adds many others. An error after the end of its test only sets the exit code. */
const SHOWN = [new RegExp(`^${LOG_HEAD}`), /asynchronous activity after the test ended/]

export async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const counts = { passed: 0, failed: 0, skipped: 0 }
  for await (const event of source) {
    const { type, data } = event
    if (isOfProgram(event) && type !== 'test:fail') continue
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
      // The causes of the cause are shown too: "fetch failed" alone says nothing. A process has no cause, and its exit code.
      const shownError = 'exitCode' in error ? error : (error.cause ?? error)
      yield `\nFAILED: ${data.name} (${data.file ?? ''}:${data.line ?? ''})\n${inspect(shownError, { depth: 4 })}\n`
    } else if (type === 'test:diagnostic' && SHOWN.some((head) => head.test(data.message))) {
      yield `\n${data.message}\n`
    } else if (type === 'test:stderr' && data.message.includes(PRODUCT_ENDED)) {
      yield `\n${data.file}: ${data.message}\n`
    } else if (type === 'test:stderr' && data.message.startsWith(PROGRESS)) {
      yield `\n${data.message.trimEnd()}\n`
    }
  }
  yield `\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`
}
