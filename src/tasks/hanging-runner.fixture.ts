// A process to kill: its task `hang` writes a row into the table `begun` and never ends. Argument: the URL of the state.
import { quiet } from '#postgres/testing.ts'
import { connectState } from '#state/connect.ts'
import { createTaskRunner } from './runner.ts'

const address = { url: process.argv[2] ?? '' }
const state = connectState({ address, connections: 3, log: quiet })
const hang = async () => {
  await state.query('insert into begun values ($1)', [process.pid])
  await new Promise(() => undefined)
}
await createTaskRunner({
  state,
  address,
  tasks: { hang: { everyMs: 1000, attempts: 3, timeoutMs: 60_000, run: hang } },
  log: quiet,
}).run(new AbortController().signal)
