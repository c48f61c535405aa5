// The certificate of the database endpoint, for clients that check it.
import { X509Certificate } from 'node:crypto'
import type { DatabaseUrl } from '#contract/databases/databases.ts'
import type { Queryable } from '#state/connect.ts'

export async function findCertificate(
  state: Queryable,
  host: string,
): Promise<Pick<DatabaseUrl, 'certificate_sha256' | 'ca'>> {
  const { rows } = await state.query<{ certificate: string; is_self_signed: boolean }>(
    'select certificate, is_self_signed from database_endpoints where host = $1',
    [host],
  )
  const [row] = rows
  return {
    certificate_sha256:
      row === undefined ? null : new X509Certificate(row.certificate).fingerprint256,
    ca: row?.is_self_signed === true ? row.certificate : null,
  }
}
