import { Empty } from '../../parts/Notes.tsx'

export function NoApps() {
  return (
    <Empty
      icon="apps"
      title="No apps yet"
      text="Zip the folder of your program and drop it here, or send it."
      command={`curl -H "Authorization: Bearer $BERTH_API_KEY" \\\n  -F entrypoint_rel_path=index.ts -F file=@app.zip \\\n  ${location.origin}/deployments`}
    />
  )
}
