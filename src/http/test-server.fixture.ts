// A listening server for tests: the real pipeline and charging on a ledger in memory, behind a protocol whose
// endpoints a test gives by path. Callers are of the free tier: `x-account` names another account, or `none`.
import type { Trusts } from './address-limit.ts'
import { systemClock } from '#base/clock.ts'
import { createLogger } from '#base/log.ts'
import {
  FREE_PAYER,
  startTestGateway,
  type TestGateway,
  type TestGatewayOptions,
} from '#charging/gateway.fixture.ts'
import { fault } from '#contract/errors.ts'
import type { OperationName } from '#contract/operations.ts'
import { ACCOUNT_REQUESTS_MAX, createAccountLoad } from './account-load.ts'
import type { Idempotency } from './idempotency.ts'
import type { ProtocolHandler } from './protocol-handler.ts'
import { readJson } from './json-body.ts'
import { renderProblem } from './problem.ts'
import type { Handler } from './reply.ts'
import { createRefusals } from './refusals.ts'
import { createRequestCounts, type RequestCounts } from './request-counts.ts'
import { ACCOUNT_RATE_PER_MINUTE, createRequestRates } from './request-rates.ts'
import { listen } from './server.ts'

export type TestHttp = AsyncDisposable & {
  readonly port: number
  readonly gateway: TestGateway
  /** The log, as JSON lines. */
  readonly logged: readonly string[]
  /** The errors of refused and failed requests. */
  readonly failed: readonly unknown[]
  readonly counts: Pick<RequestCounts, 'accounts'>
}

export async function startTestHttp(
  handlers: Readonly<Record<string, Handler>>,
  {
    charging,
    operation = 'chat.create',
    identifying,
    ...options
  }: {
    silenceMs?: number
    unreadMs?: number
    unsentBytesMax?: number
    waitingBytesMax?: number
    bodyMemoryBytes?: number
    networkConnectionsMax?: number
    trusts?: Trusts
    accountRequests?: number
    accountRate?: number
    idempotency?: Idempotency
    charging?: TestGatewayOptions
    /** The operation of all endpoints. */
    operation?: OperationName
    /** Runs while a caller is identified, by its account. */
    identifying?: Identifying
  } = {},
): Promise<TestHttp> {
  const gateway = await startTestGateway(charging)
  await gateway.setTariff(1_000_000_000n)
  const logged: string[] = []
  const failed: unknown[] = []
  const handler = handlerOf(handlers, operation, identifying)
  const counts = createRequestCounts()
  const server = await listen({
    charging: gateway.charging,
    protocolOf: () => handler,
    fallback: handler,
    idempotency: { claim: () => undefined },
    exposures: { see: () => undefined },
    failures: { see: (thrown) => void failed.push(thrown) },
    clock: systemClock,
    counts,
    refusals: createRefusals({ wallMs: Date.now }),
    accounts: createAccountLoad(options.accountRequests ?? ACCOUNT_REQUESTS_MAX),
    rates: createRequestRates(options.accountRate ?? ACCOUNT_RATE_PER_MINUTE, systemClock),
    log: createLogger('test', { level: 'error', write: (line) => logged.push(line) }),
    host: '127.0.0.1',
    port: 0,
    shared: false,
    ...options,
  })
  return {
    port: server.port,
    gateway,
    logged,
    failed,
    counts,
    async [Symbol.asyncDispose]() {
      await server.drain()
      await gateway[Symbol.asyncDispose]()
    },
  }
}

type Identifying = (account: string) => Promise<void> | undefined

const handlerOf = (
  handlers: Readonly<Record<string, Handler>>,
  operation: OperationName,
  identifying: Identifying = () => undefined,
): ProtocolHandler => ({
  match(exchange) {
    const handle = handlers[exchange.path]
    if (handle === undefined) throw fault('not_found', `Could not find the path: ${exchange.path}`)
    return { operation, endpoint: { handle }, parameters: {} }
  },
  identify(exchange) {
    const account = exchange.header('x-account') ?? FREE_PAYER.account
    if (account === 'none') return undefined
    const member = { token: 'tok_a', member: 'mem_a', role: 'owner', scope: 'deploy' } as const
    const caller = { ...FREE_PAYER, account, ...member, refusesTokenPresign: false }
    return identifying(account)?.then(() => caller) ?? caller
  },
  body: async (exchange) => (exchange.method === 'POST' ? await readJson(exchange) : undefined),
  render: renderProblem,
})
