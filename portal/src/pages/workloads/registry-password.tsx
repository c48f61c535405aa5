// A password of a registry, typed once: the service encrypts it and never shows it.
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import { changed } from '#console/client/queries.ts'
import { withTouch } from '#console/client/touch.ts'
import { Field } from '#console/parts/forms/field.tsx'
import { FormDialog } from '#console/parts/forms/form-dialog.tsx'

export function RegistryPassword(props: {
  /** The registry whose password is replaced. */
  readonly known?: { readonly registry: string; readonly username: string }
  readonly onClose: () => void
}) {
  const { known, onClose } = props
  const [registry, setRegistry] = useState(known?.registry ?? '')
  const [username, setUsername] = useState(known?.username ?? '')
  const [password, setPassword] = useState('')
  const act = async () => {
    const body = { username: username.trim(), password }
    await withTouch(() =>
      call('PUT /v1/registries/:registry', { path: { registry: registry.trim() }, body }),
    )
    await changed('GET /v1/registries')
    onClose()
  }
  return (
    <FormDialog
      title={known === undefined ? 'Password of a registry' : `Password of ${known.registry}`}
      verb="Keep it"
      act={act}
      onClose={onClose}
    >
      {known === undefined && (
        <Field
          label="Registry"
          name="registry"
          required
          autoComplete="off"
          spellCheck={false}
          placeholder="ghcr.io"
          hint="Its host. That of names without a host is docker.io."
          value={registry}
          onChange={({ target }) => setRegistry(target.value)}
        />
      )}
      <Field
        label="User"
        name="username"
        required
        autoComplete="off"
        spellCheck={false}
        value={username}
        onChange={({ target }) => setUsername(target.value)}
      />
      <Field
        label="Password, or a token that may pull"
        name="password"
        type="password"
        required
        autoComplete="new-password"
        hint="It is encrypted and never shown again. The first pull tells whether it is right."
        value={password}
        onChange={({ target }) => setPassword(target.value)}
      />
    </FormDialog>
  )
}
