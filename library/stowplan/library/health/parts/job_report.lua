local waiting = "Waiting for the first report"
if obj.status == nil then
  return { status = "Progressing", message = waiting }
end
local status = obj.status
if status.observedGeneration ~= nil and obj.metadata.generation ~= nil
    and status.observedGeneration < obj.metadata.generation then
  return { status = "Progressing", message = "Waiting for a report on the newest spec" }
end
