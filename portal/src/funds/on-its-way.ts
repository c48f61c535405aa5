// Cards that a payer is giving to the processor on its page, or has just given there.
import type { ReplyOf } from '#console/client/operations.ts'

const AGAIN_MS = 2_000
/** A page of the processor is left open, or given up, after so long. */
const ON_ITS_WAY_MS = 600_000

type Methods = ReplyOf<'GET /v1/payment-methods'>

export const isOnItsWay = ({ status, created_at }: Methods['data'][number]): boolean =>
  status === 'pending' && Date.now() - Date.parse(created_at) < ON_ITS_WAY_MS

/** A payer who is back from the processor's page has the card a moment later. */
export const againWhileOnItsWay = ({
  state,
}: {
  readonly state: { readonly data: Methods | undefined }
}): number | false => (state.data?.data.some(isOnItsWay) === true ? AGAIN_MS : false)
