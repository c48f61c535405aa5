// The reason of a failed request: the problem document of the API, or that nothing answered.
export class Problem extends Error {
  readonly status: number
  readonly code: string
  /** The request id; undefined where no answer came. */
  readonly requestId: string | undefined
  /** The field at fault. */
  readonly param: string | undefined
  /** All members of the problem document, such as the offer of 402 payment_required. */
  readonly document: Readonly<Record<string, unknown>>
  readonly at: Date
  /** Milliseconds after which the API asks to be asked again. */
  readonly retryMs: number | undefined

  constructor(facts: ProblemFacts) {
    super(facts.detail)
    this.name = 'Problem'
    this.status = facts.status
    this.code = facts.code
    this.requestId = facts.requestId
    this.param = facts.param
    this.retryMs = facts.retryMs
    this.document = facts.document ?? {}
    this.at = new Date()
  }
}

type ProblemFacts = {
  readonly status: number
  readonly code: string
  readonly detail: string
  readonly requestId?: string | undefined
  readonly param?: string | undefined
  readonly retryMs?: number | undefined
  readonly document?: Readonly<Record<string, unknown>>
}

type Document = {
  readonly detail?: string
  readonly instance?: string
  readonly error?: { readonly code?: string; readonly param?: string | null }
}

/** The problem of an answer that is no success. */
export async function problemOf(response: Response): Promise<Problem> {
  const read = ((await response.json().catch(() => undefined)) ?? {}) as Document
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  return new Problem({
    status: response.status,
    code: read.error?.code ?? 'unknown',
    detail: read.detail ?? `The service answered ${response.status}`,
    requestId: read.instance ?? response.headers.get('x-request-id') ?? undefined,
    param: read.error?.param ?? undefined,
    retryMs: Number.isFinite(seconds) ? seconds * 1000 : undefined,
    document: { ...read },
  })
}

/** The JSON of an answer. Throws Problem where something between here and the service answered instead. */
export async function jsonOf(response: Response): Promise<unknown> {
  const text = await response.text().catch(() => {
    throw unreachable()
  })
  try {
    return JSON.parse(text)
  } catch {
    throw new Problem({
      status: response.status,
      code: 'unreadable',
      detail: 'The answer is not of the service: it is no JSON',
      requestId: response.headers.get('x-request-id') ?? undefined,
    })
  }
}

/** True where a sign-in is missing or over. */
export const isSignedOut = (error: unknown): boolean =>
  isProblem(error, 'session_missing', 'session_ended')

/** The problem of a request that nothing answered. */
export const unreachable = (): Problem =>
  new Problem({ status: 0, code: 'unreachable', detail: 'The service does not answer' })

export const isProblem = (error: unknown, ...codes: readonly string[]): error is Problem =>
  error instanceof Problem && (codes.length === 0 || codes.includes(error.code))

/** The person closed the browser's dialog of passkeys, or a newer one took its place. */
export const isCancelled = (error: unknown): boolean =>
  error instanceof Error && ['NotAllowedError', 'AbortError'].includes(error.name)
