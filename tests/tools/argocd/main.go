// Argo CD's application controller and repository server in one program.
//
// Upstream's own `cmd` links the API server, the command line client and five more components, a third more packages,
// of which the tests use none.
package main

import (
	"os"

	controller "github.com/argoproj/argo-cd/v3/cmd/argocd-application-controller/commands"
	reposerver "github.com/argoproj/argo-cd/v3/cmd/argocd-repo-server/commands"
	"github.com/argoproj/argo-cd/v3/common"
	"github.com/spf13/cobra"
)

func main() {
	root := &cobra.Command{Use: "argocd-controllers", Version: common.GetVersion().Version, SilenceUsage: true}
	root.AddCommand(controller.NewCommand(), reposerver.NewCommand())
	if root.Execute() != nil {
		os.Exit(1)
	}
}
