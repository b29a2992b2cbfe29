-- Health of a DataCube from what its agent reports. Argo CD runs this without the string and math libraries.
local scheduled = obj.spec ~= nil and obj.spec.schedule ~= nil
local status = obj.status
local empty = status == nil
  or ((status.phase == nil or status.phase == "") and (status.conditions == nil or #status.conditions == 0))
if empty then
  if scheduled then
    return { status = "Healthy", message = "Waiting for the scheduled time" }
  end
  return { status = "Progressing", message = "Waiting for the agent to report" }
end
if status.observedGeneration ~= nil and obj.metadata.generation ~= nil
    and status.observedGeneration < obj.metadata.generation then
  return { status = "Progressing", message = "Waiting for the agent to see the newest spec" }
end
-- What keeps the transfer from its start is told by the condition that waits for it; these reasons say that nothing does.
-- part: task_conditions
local message = nil
if status.attempt ~= nil then
  message = status.attempt.message
end
local ended = nil
if status.conditions ~= nil then
  for _, condition in ipairs(status.conditions) do
    if condition.status == "True" and (condition.type == "Complete" or condition.type == "Failed") then
      ended = condition
    end
  end
end
if ended ~= nil and message == nil then
  message = ended.message
end
if (ended ~= nil and ended.type == "Failed") or (ended == nil and status.phase == "Failed") then
  return { status = "Degraded", message = message or "The transfer failed" }
end
if ended ~= nil or status.phase == "Succeeded" then
  return { status = "Healthy", message = message or "The data is there" }
end
if stalled ~= nil then
  return { status = "Degraded", message = stalled }
end
if message == nil and status.progress ~= nil and status.progress ~= "" then
  message = status.progress
end
message = kept or message or "The transfer is running"
return { status = scheduled and "Healthy" or "Progressing", message = message }
