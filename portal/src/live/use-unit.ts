// The unit of the account's money: from the live stream, and before its first message from the balance.
import { useQuery } from '@tanstack/react-query'
import { read } from '#console/client/queries.ts'
import type { MoneyUnit } from '#console/figures/money.ts'
import { useLive } from './use-live.ts'

export function useUnit(): MoneyUnit {
  const live = useLive(({ balance }) => balance?.unit)
  const balance = useQuery({ ...read('GET /v1/balance', {}), enabled: live === undefined })
  return live ?? balance.data?.unit ?? 'USD'
}
