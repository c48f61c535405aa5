// The reads that a payment changes, for every way to pay and to give back.
import { changed } from '#console/client/queries.ts'

export const paymentsChanged = (): Promise<void> =>
  changed('GET /v1/balance', 'GET /v1/topups', 'GET /v1/payment-methods')
