// A ledger for the tests of a file: opened before its first test, dropped after its last.
import { after, before } from 'node:test'
import { openLedgerState } from './test-state.fixture.ts'
import { openTestUrl, whyNoState, type TestUrl } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'

/** Called at the top of a file; `use` keeps the state, and adds what the tests need. */
export function ledgerOfFile(
  connections: number,
  use: (state: State) => void | Promise<void>,
): void {
  let server: TestUrl | undefined
  let state: State | undefined
  before(async () => {
    if (whyNoState() !== false) return
    server = await openTestUrl()
    state = await openLedgerState(server.of, connections)
    await use(state)
  })
  after(async () => {
    await state?.[Symbol.asyncDispose]()
    await server?.[Symbol.asyncDispose]()
  })
}
