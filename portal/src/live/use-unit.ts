// The unit of the account's money: from the live stream, and from the balance while the stream tells nothing.
import { useQuery } from '@tanstack/react-query'
import { read } from '#console/client/queries.ts'
import type { MoneyUnit } from '#console/figures/money.ts'
import { useIsLate, useLive } from './use-live.ts'

export function useUnit(): MoneyUnit {
  const live = useLive(({ balance }) => balance?.unit)
  const isLate = useIsLate()
  const balance = useQuery({
    ...read('GET /v1/balance', {}),
    enabled: isLate && live === undefined,
  })
  return live ?? balance.data?.unit ?? 'USD'
}
