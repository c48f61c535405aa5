// The installation's own probe, as the operator's account has it. Nobody else has one.
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { PROBE_NAME, probeBucket } from '#contract/status/probe-names.ts'
import { read, readPages, rowsOf, useIsOperator, useRest } from '#console/client/queries.ts'
import type { Probe } from './ledger-row.ts'

/** In lists, behind the name of a thing. */
export const PROBE_WORDS = 'the installation’s own probe'

/** Undefined in another account, and until its tokens were read. */
export function useProbe(): Probe | undefined {
  const isOperator = useIsOperator()
  const account = useQuery(read('GET /v1/session', {})).data?.account_id
  const tokens = useInfiniteQuery({ ...readPages('GET /v1/tokens', {}), enabled: isOperator })
  // The newest tokens come first, and the probe's is among the oldest.
  useRest(tokens)
  return useMemo(
    () =>
      account === undefined || tokens.data === undefined || !isOperator
        ? undefined
        : {
            tokens: new Set(
              rowsOf(tokens.data).flatMap(({ id, name }) => (name === PROBE_NAME ? [id] : [])),
            ),
            bucket: probeBucket(account),
          },
    [account, tokens.data, isOperator],
  )
}
