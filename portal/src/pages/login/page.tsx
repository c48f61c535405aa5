// A command line asks for a token of the member: found by the address that it opened, or by the code that a person types.
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { read } from '#console/client/queries.ts'
import { Field } from '#console/parts/forms/field.tsx'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { Head } from '#console/shell/head.tsx'
import { Approve } from './approve.tsx'
import './login.css'

export function Page() {
  const { login: opened } = useSearch({ strict: false }) as { readonly login?: string }
  const [typed, setTyped] = useState<string>()
  // A link of somebody else must not bring a code.
  const login = opened?.startsWith('login_') === true ? opened : typed
  return (
    <>
      <Head title="Sign in a command line" />
      {login === undefined ? <ByCode onTyped={setTyped} /> : <Asked login={login} />}
    </>
  )
}

function Asked({ login }: { readonly login: string }) {
  const query = useQuery({
    ...read('GET /v1/logins/:login', { path: { login } }),
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  })
  return (
    <Loaded query={query} what="the login">
      {(asked) => <Approve key={asked.id} login={login} asked={asked} />}
    </Loaded>
  )
}

function ByCode({ onTyped }: { readonly onTyped: (code: string) => void }) {
  const [code, setCode] = useState('')
  return (
    <form
      className="login"
      onSubmit={(event) => {
        event.preventDefault()
        onTyped(code.trim())
      }}
    >
      <Field
        label="The code that the command line shows"
        name="code"
        required
        autoComplete="off"
        spellCheck={false}
        value={code}
        onChange={({ target }) => setCode(target.value)}
      />
      <div className="tools">
        <button type="submit" className="btn primary">
          Find it
        </button>
      </div>
    </form>
  )
}
