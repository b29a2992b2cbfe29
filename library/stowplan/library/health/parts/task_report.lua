if obj.status == nil or obj.status.phase == nil or obj.status.phase == "" then
  if scheduled then
    return { status = "Healthy", message = "Waiting for the scheduled time" }
  end
  return { status = "Progressing", message = "Waiting for the agents to report" }
end
local status = obj.status
if status.observedGeneration ~= nil and obj.metadata.generation ~= nil
    and status.observedGeneration < obj.metadata.generation then
  return { status = "Progressing", message = "Waiting for the agents to see the newest spec" }
end
