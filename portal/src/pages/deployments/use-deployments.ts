// Reads of deployments. One that runs is read again until its end; a list at rest is read when the live stream tells of work.
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { changed, read, readPages } from '#console/client/queries.ts'
import { useCharges } from '#console/live/use-charges.ts'

const RUNNING_MS = 1_000
const LIST_MS = 5_000
/** The live stream tells of work, of an account with much of it not at once. */
const SHOWN_MS = 60_000
/** Charged at the begin and at the end of a deployment, also of a deployment from a command line. */
const WORK = ['deployment.create', 'deployment.apply', 'deployment.cancel']

/** The newest first; of one stack where it is given. */
export function useDeployments(stack: string | undefined) {
  useCharges(WORK, deploymentsChanged)
  return useInfiniteQuery({
    ...readPages('GET /v1/deployments', { query: { stack } }),
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ data }) => data.some(({ status }) => status === 'running'))
        ? LIST_MS
        : SHOWN_MS,
  })
}

export const useDeployment = (id: string) =>
  useQuery({
    ...read('GET /v1/deployments/:deployment', { path: { deployment: id } }),
    refetchInterval: ({ state }) => (state.data?.status === 'running' ? RUNNING_MS : false),
  })

export const deploymentsChanged = (): Promise<void> =>
  changed('GET /v1/deployments', 'GET /v1/deployments/:deployment')
