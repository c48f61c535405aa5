// The products of a gateway, opened in the order of the list and put together.
import type { ErgonError } from '#base/errors.ts'
import type {
  GatewayCore,
  GatewayPart,
  GatewayProduct,
  LiveStates,
  Lookups,
  Protocol,
  Site,
} from '#http/gateway-part.ts'
import type { OpenCore } from './gateway-core.ts'

/** The least time that parts have for their writes after the last request, however long requests took. */
const DRAINED_MS_LEAST = 1000

export type GatewayParts = {
  readonly endpoints: NonNullable<GatewayPart['endpoints']>
  readonly protocols: readonly Protocol[]
  readonly sites: readonly Site[]
  readonly pages: NonNullable<GatewayPart['pages']>
  readonly refusalFacts: NonNullable<GatewayPart['refusalFacts']>
  stopping(): void
  /** `leftMs` is the rest of the time of the last requests. */
  drained(leftMs: number): Promise<void>
  close(): Promise<void>
}

/** Throws what a product throws that cannot open; `settings` are by the product's name. */
export async function openGatewayParts(
  products: readonly GatewayProduct[],
  core: OpenCore,
  settings: Readonly<Record<string, object>>,
): Promise<GatewayParts> {
  const parts: GatewayPart[] = []
  const given: GatewayCore = {
    ...core,
    unready: () => core.unready() ?? firstFault(parts),
    accountParts: () => parts.flatMap(({ account = [] }) => account),
    liveStates: () => Object.assign({}, ...parts.map(({ live }) => live)) as LiveStates,
    lookups: () => Object.assign({}, ...parts.map(({ lookups }) => lookups)) as Lookups,
    figures: () => [...core.figures, ...parts.flatMap(({ figures = [] }) => figures)],
  }
  for (const { name, open } of products) parts.push(await open(given, settings[name] as never))
  return {
    endpoints: Object.assign({}, ...parts.map(({ endpoints }) => endpoints)) as object,
    protocols: parts.flatMap(({ protocols = [] }) => protocols),
    sites: parts.flatMap(({ sites = [] }) => sites),
    pages: Object.assign({}, ...parts.map(({ pages }) => pages)) as GatewayParts['pages'],
    refusalFacts: Object.assign({}, ...parts.map((part) => part.refusalFacts)) as object,
    stopping() {
      for (const part of parts) part.stopping?.()
    },
    async drained(leftMs) {
      const signal = AbortSignal.timeout(DRAINED_MS_LEAST + Math.max(0, Math.floor(leftMs)))
      for (const part of parts) await part.drained?.(signal)
    },
    async close() {
      for (const part of parts) await part.close?.()
    },
  }
}

function firstFault(parts: readonly GatewayPart[]): ErgonError | undefined {
  for (const part of parts) {
    const fault = part.unready?.()
    if (fault !== undefined) return fault
  }
  return undefined
}
