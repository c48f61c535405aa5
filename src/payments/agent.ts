// Payments in the agent: the operator's operations, the settings of the other halves, and the embedded test processor.
import type { AgentCore, AgentPart, AgentProduct } from '#node/agent-part.ts'
import { programCell, START_TIMEOUT_MS } from '#node/cell-specs.ts'
import { ONE_COLLECTOR, type Program } from '#node/program-flags.ts'
import { baseUrl, portalUrl } from '#node/report.ts'
import { STATE_SOCKETS } from '#node/state-cell.ts'
import type { PAYMENTS_CONTROL } from '#contract/payments/control.ts'
import type { ControlHandlers } from '#contract/control-operation.ts'
import { voucherHandlers } from './control/vouchers.ts'
import type { TestProcessorConfig } from './programs/test-processor.ts'
import { openChains } from './stablecoin/chains.ts'
import { refundHandlers } from './stablecoin/refund-control.ts'
import { paymentsSettings, TEST_CARDS, testProcessorSecrets } from './settings.ts'

const TEST_PROCESSOR: Program = {
  file: 'payments/programs/test-processor.ts',
  flags: [ONE_COLLECTOR],
}
const CELL = 'test-processor'

export const PAYMENTS_AGENT: AgentProduct = { name: 'payments', programs: [TEST_PROCESSOR], open }

function open(core: AgentCore): AgentPart {
  const { config, data, state } = core
  const secret = data.secrets.state
  const api = baseUrl({ config, data })
  const portal = portalUrl({ config, data })
  const settings = paymentsSettings(config, { api, portal, secret })
  const port = config.testProcessorPort
  return {
    gateway: { settings },
    tasks: { settings },
    control: {
      ...voucherHandlers(state, secret),
      ...refundHandlers(state, openChains(settings.stablecoins)),
    } satisfies ControlHandlers<typeof PAYMENTS_CONTROL>,
    cells: [{ stage: 'workers', name: CELL }],
    ...(port === undefined ? {} : { start: (signal) => startTestProcessor(core, port, signal) }),
  }
}

async function startTestProcessor(
  { cells, place, data, address }: AgentCore,
  port: number,
  signal: AbortSignal,
): Promise<void> {
  const config: Omit<TestProcessorConfig, 'socket' | 'logLevel'> = {
    port,
    webhookUrl: `http://127.0.0.1:${data.port}/v1/payment-webhooks/${TEST_CARDS}`,
    ...testProcessorSecrets(data.secrets.state),
    state: address,
  }
  const cell = await cells.start(
    programCell(TEST_PROCESSOR, {
      name: CELL,
      user: CELL,
      place,
      config,
      socketGroup: CELL,
      calls: [STATE_SOCKETS],
    }),
  )
  await cell.ready(AbortSignal.any([signal, AbortSignal.timeout(START_TIMEOUT_MS)]))
}
