import { TextField } from '../../parts/Form.tsx'

export function NameField({ name, onChange }: { name: string; onChange: (name: string) => void }) {
  return (
    <TextField
      name="name"
      label="Name"
      hint="Unique in the project: letters, digits, dots, dashes and underscores"
      isOptional
      value={name}
      onChange={onChange}
    />
  )
}
