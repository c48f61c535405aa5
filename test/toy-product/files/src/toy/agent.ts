// The toy in the agent: its setting for the gateway, the operator's operations, and cells that accounts pay for.
import type { TOY_CONTROL } from '#contract/toy/control.ts'
import type { ControlHandlers } from '#contract/control-operation.ts'
import type { AgentCore, AgentPart, AgentProduct } from '#node/agent-part.ts'
import { programCell } from '#node/cell-specs.ts'
import { ONE_COLLECTOR, type Program } from '#node/program-flags.ts'
import { budgetOf } from './budget.ts'

const SPINNER: Program = { file: 'toy/programs/spinner.ts', flags: [ONE_COLLECTOR] }
const CELLS = 'toy-'
const START_MS = 30_000

export const TOY_AGENT: AgentProduct = { name: 'toy', programs: [SPINNER], open }

function open({ config, state, cells, place }: AgentCore): AgentPart {
  const nameOf = (account: string) => `${CELLS}${account.slice(account.indexOf('_') + 1)}`
  return {
    gateway: { settings: { greeting: config.toyGreeting } },
    cells: [{ stage: 'workers', name: CELLS }],
    control: {
      'toy.list': async ({ least }) => {
        const { rows } = await state.query<{ account: string; count: string }>(
          'select account, count from toy_counts where count >= $1',
          [least],
        )
        return rows
      },
      'toy.grant': async ({ account, nj }) => {
        await state.query('select set_budget($1, $2, $3)', [budgetOf(account), account, nj])
        return { account }
      },
      'toy.start': async ({ account }) => {
        const cell = await cells.start(
          programCell(SPINNER, {
            name: nameOf(account),
            place,
            config: {},
            socketGroup: 'toy',
            payer: { kind: 'account', account },
          }),
        )
        await cell.ready(AbortSignal.timeout(START_MS))
        return { account }
      },
      'toy.stop': async ({ account }) => {
        const running = cells.list().filter(({ spec }) => spec.name === nameOf(account))
        await Promise.all(running.map((cell) => cell.stop()))
        return { account }
      },
    } satisfies ControlHandlers<typeof TOY_CONTROL>,
  }
}
