// Reads of deployments. One that runs is read again until its end.
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { read, readPages } from '#console/client/queries.ts'

const RUNNING_MS = 1_000
/** One may begin at a command line. */
const SHOWN_MS = 5_000

/** The newest first; of one stack where it is given. */
export const useDeployments = (stack: string | undefined) =>
  useInfiniteQuery({
    ...readPages('GET /v1/deployments', { query: { stack } }),
    refetchInterval: SHOWN_MS,
  })

export const useDeployment = (id: string) =>
  useQuery({
    ...read('GET /v1/deployments/:deployment', { path: { deployment: id } }),
    refetchInterval: ({ state }) => (state.data?.status === 'running' ? RUNNING_MS : false),
  })
