// Reads of webhooks and their deliveries. A message of the live stream about one of them has it read again.
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { changed, read, readPages } from '#console/client/queries.ts'
import { useLive } from '#console/live/use-live.ts'

export type Filter = 'pending' | 'delivered' | 'dead'

/** Attempts are made seconds after their event. */
const DELIVERIES_MS = 5_000
const PAGE = '50'

export function useWebhooks() {
  useChanges()
  return useInfiniteQuery(readPages('GET /v1/webhooks', {}))
}

export function useWebhook(webhook: string) {
  useChanges()
  return useQuery(read('GET /v1/webhooks/:webhook', { path: { webhook } }))
}

export const useDeliveries = (webhook: string, status: Filter | undefined) =>
  useInfiniteQuery({
    ...readPages('GET /v1/webhook-deliveries', { query: { webhook, status, limit: PAGE } }),
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ data }) => data.some((one) => one.status === 'pending'))
        ? DELIVERIES_MS
        : false,
  })

export const webhooksChanged = (): Promise<void> =>
  changed('GET /v1/webhooks', 'GET /v1/webhooks/:webhook', 'GET /v1/webhook-deliveries')

function useChanges(): void {
  const states = useLive(({ webhooks }) =>
    [...webhooks]
      .map(([id, now]) => [id, now.status, now.last_success_at, now.last_failure_at].join(' '))
      .join('\n'),
  )
  useEffect(() => {
    if (states !== '') void webhooksChanged()
  }, [states])
}
