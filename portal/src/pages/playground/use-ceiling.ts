// The most that an answer can cost, before it is asked for: a dry run of admission, a moment after the typing stops.
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { call } from '#console/client/call.ts'
import type { ChatBody } from '#console/chat/stream.ts'
import type { Ceiling } from './ceiling-words.ts'

const PAUSE_MS = 600

/** Undefined without a message, while one is typed, and where the service does not say. */
export function useCeiling(body: ChatBody | undefined): Ceiling | undefined {
  const key = body === undefined ? '' : JSON.stringify(body)
  const [asked, setAsked] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setAsked(key), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [key])
  const query = useQuery({
    queryKey: ['ceiling', asked],
    queryFn: ({ signal }) => {
      const { messages, ...rest } = JSON.parse(asked) as ChatBody
      const askedBody = { ...rest, messages: [...messages] }
      return call('POST /v1/chat/completions/ceiling', { body: askedBody, signal })
    },
    enabled: asked !== '' && asked === key,
    retry: false,
    staleTime: Infinity,
  })
  return asked === key ? query.data : undefined
}
