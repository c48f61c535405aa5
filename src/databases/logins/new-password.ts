// A new password of a role, for the state.
import type { Queryable } from '#state/connect.ts'
import { passwordOf } from './passwords.ts'
import { makeVerifier, verifierText } from './scram.ts'

/** A password that no role of this name ever had: what the state keeps of it. */
export async function newPassword(
  state: Queryable,
  { key, role }: { readonly key: string; readonly role: string },
): Promise<{ readonly revision: number; readonly verifier: string }> {
  const { rows } = await state.query<{ revision: number }>(
    "select nextval('database_password_revisions')::integer as revision",
  )
  const [{ revision } = { revision: 0 }] = rows
  const verifier = verifierText(await makeVerifier(passwordOf(key, role, revision)))
  return { revision, verifier }
}
