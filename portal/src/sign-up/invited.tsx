// Whom a link lets in, said before there is a passkey: a new member, or one that exists and gets a further passkey.
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { call } from '#console/client/call.ts'
import { Waiting } from '#console/parts/page/loaded.tsx'
import { Refusal } from '#console/parts/forms/refusal.tsx'
import { accountWords } from './account-words.ts'

/** `children` follow an invitation that holds. */
export function Invited(props: { readonly invitation: string; readonly children: ReactNode }) {
  const { invitation, children } = props
  const { data, error } = useQuery({
    queryKey: ['invited', invitation],
    queryFn: ({ signal }) => call('POST /v1/sign-up/options', { body: { invitation }, signal }),
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  })
  if (error !== null)
    return (
      <>
        <h1>A link for one person</h1>
        <Refusal error={error} />
        <p className="small">
          Were you here before? <a href="/sign-in">Sign in</a>
        </p>
      </>
    )
  if (data?.invited === undefined) return <Waiting what="the invitation" />
  const { name, role, is_active: isActive } = data.invited
  const where = accountWords(data.invited)
  return isActive ? (
    <>
      <h1>Add a passkey to {name}</h1>
      <p className="small">
        The link adds a passkey of this device to the member <b>{name}</b> of <b>{where}</b>, whose
        role is {role}. Whoever holds the device can then sign in as {name}. The link works once.
      </p>
      {children}
    </>
  ) : (
    <>
      <h1>Join {where}</h1>
      <p className="small">
        You become the member <b>{name}</b>, as {role}, by a passkey of this device, and then keep
        ten recovery codes. The link works once.
      </p>
      {children}
    </>
  )
}
